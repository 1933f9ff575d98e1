import LinkProtocol
import Synchronization

/// The two transports of a link that runs through a conditioner. An end is named by the direction in which it sends.
final class ConditionedLink: Sendable {
  let number: UInt64
  let content: LinkConditioner.Content
  private let app: any ByteTransport
  private let glasses: any ByteTransport
  private let appCourier = Courier()
  private let glassesCourier = Courier()
  private let passesToApp = Atomic<Bool>(true)
  private let passesToGlasses = Atomic<Bool>(true)

  init(
    number: UInt64, app: any ByteTransport, glasses: any ByteTransport, content: LinkConditioner.Content
  ) {
    self.number = number
    self.content = content
    self.app = app
    self.glasses = glasses
  }

  /// The end that sends in a direction.
  func transport(_ direction: LinkConditioner.Direction) -> any ByteTransport {
    switch direction {
    case .toApp: glasses
    case .toGlasses: app
    }
  }

  /// Whether bytes pass a direction as they are. Changed with the conditioner's lock held; read by the direction's
  /// writer, who finds it false before anything is done to what it wrote earlier.
  func passes(_ direction: LinkConditioner.Direction) -> Bool {
    switch direction {
    case .toApp: passesToApp.load(ordering: .acquiring)
    case .toGlasses: passesToGlasses.load(ordering: .acquiring)
    }
  }

  func setPasses(_ direction: LinkConditioner.Direction, _ passes: Bool) {
    switch direction {
    case .toApp: passesToApp.store(passes, ordering: .releasing)
    case .toGlasses: passesToGlasses.store(passes, ordering: .releasing)
    }
  }

  func open(_ end: LinkConditioner.Direction, _ handlers: TransportHandlers) {
    let courier = courier(end)
    courier.open(handlers)
    transport(end).open(
      TransportHandlers(
        received: { courier.deliver(.received($0)) }, writable: { courier.deliver(.writable) },
        closed: { courier.deliver(.closed($0)) }))
  }

  /// Tells the owner of an end; what comes behind a close is dropped.
  func tell(_ end: LinkConditioner.Direction, _ delivery: Courier.Delivery) { courier(end).deliver(delivery) }

  func forward(_ portion: ConditionedFlow.Portion, _ direction: LinkConditioner.Direction) {
    switch portion {
    case .bytes(let bytes): transport(direction).write(bytes)
    case .end: transport(direction).close()
    }
  }

  /// Closes both ends; their owners are told why, unless they were told before.
  func end(_ cause: TransportClose) {
    for end in LinkConditioner.Direction.allCases { tell(end, .closed(cause)) }
    app.close()
    glasses.close()
  }

  private func courier(_ end: LinkConditioner.Direction) -> Courier {
    switch end {
    case .toApp: glassesCourier
    case .toGlasses: appCourier
    }
  }
}

/// One end of a link as its owner sees it. Closed when it is released.
final class ConditionedTransport: ByteTransport {
  private let link: ConditionedLink
  private let direction: LinkConditioner.Direction
  private let conditioner: LinkConditioner

  init(link: ConditionedLink, sends direction: LinkConditioner.Direction, conditioner: LinkConditioner) {
    self.link = link
    self.direction = direction
    self.conditioner = conditioner
  }

  deinit { close() }

  func open(_ handlers: TransportHandlers) { link.open(direction, handlers) }

  func write(_ bytes: [UInt8]) {
    if link.passes(direction) {
      link.transport(direction).write(bytes)
    } else {
      conditioner.write(bytes, to: link, direction)
    }
  }

  var writableBytes: Int {
    let room = link.transport(direction).writableBytes
    return link.passes(direction) ? room : min(room, conditioner.room(of: link, direction))
  }

  func consumed(_ byteCount: Int) { link.transport(direction).consumed(byteCount) }

  func close() { conditioner.close(link, direction) }
}
