import LinkProtocol
import Synchronization

/// The body of a pair of glasses: what the wearer's hands, the charger and the heat do to it.
///
/// Every member may be called from any thread and none waits. The state is the new one when a call has returned; what
/// follows for sessions happens on the agent's lane, in the order of the calls.
package final class GlassesHardware: Sendable {
  package typealias Observer = @Sendable (HardwareMachine.Event) -> Void

  private struct State {
    var machine: HardwareMachine
    var observers: [Observer] = []
  }

  private let state: Mutex<State>
  private let lane: any Lane

  /// - Parameter lane: where observers are told; not ended here.
  package init(machine: HardwareMachine, lane: any Lane) {
    state = Mutex(State(machine: machine))
    self.lane = lane
  }

  package var current: HardwareState { state.withLock { $0.machine.state } }

  /// Adds an observer for the life of this object. It is told of each event after this call, on the lane, in order.
  package func observe(_ observer: @escaping Observer) { state.withLock { $0.observers.append(observer) } }

  package func powerOn() { apply(.powerOn) }
  package func powerOff() { apply(.powerOff) }
  /// Puts the glasses on a face; opens the hinge.
  package func don() { apply(.don) }
  package func doff() { apply(.doff) }
  package func unfold() { apply(.unfold) }
  /// Closes the hinge; takes the glasses off the face.
  package func fold() { apply(.fold) }
  /// Percent, held within 0 to 100; nil for unknown.
  package func setBatteryLevel(_ level: Int?) { apply(.battery(level)) }
  package func setCharging(_ charging: DeviceStateReport.Charging) { apply(.charging(charging)) }
  package func setThermal(_ level: DeviceStateReport.Thermal) { apply(.thermal(level)) }
  /// One tap on the touchpad.
  package func tap() { apply(.tap) }
  /// A finger that stays on the touchpad.
  package func tapAndHold() { apply(.tapAndHold) }
  /// The glasses need rest: sessions pause until it ends. A step of a scenario.
  package func rest(_ reason: SessionPaused.Reason) { apply(.rest(reason)) }
  /// Sessions that rest for this reason go on.
  package func endRest(_ reason: SessionPaused.Reason) { apply(.endRest(reason)) }
  /// A moment of too much draw: streams end.
  package func raisePeakPowerLimit() { apply(.peakPowerLimit) }
  /// A moment of far too much draw: sessions end.
  package func raisePeakPowerShutdown() { apply(.peakPowerShutdown) }

  private func apply(_ input: HardwareMachine.Input) {
    state.withLock { state in
      let events = state.machine.handle(input)
      guard !events.isEmpty, !state.observers.isEmpty else { return }
      // Queued under the lock, so that the order of events is the order of the changes.
      let observers = state.observers
      lane.run {
        for event in events {
          for observer in observers { observer(event) }
        }
      }
    }
  }
}
