import LinkProtocol
import LinkTransport
import Trust

/// One app's local connection to the companion.
struct AppLink: Sendable {
  let link: LinkConnection
  /// What the app said of itself; nil before its hello.
  var hello: Hello?

  var isOpen: Bool { hello != nil }
}

extension Companion {
  /// Serves a local connection. The caller has made sure that it is this user's. Any thread.
  package func serve(_ transport: any ByteTransport) {
    let link = LinkConnection(
      endpoint: LinkEndpoint(hello: .companion(host, .control)), transport: transport, timekeeper: timekeeper,
      name: "gw-app")
    let number: UInt64? = state.withLock { state in
      guard !state.isOver else { return nil }
      defer { state.nextApp += 1 }
      state.apps[state.nextApp] = AppLink(link: link)
      return state.nextApp
    }
    guard let number else { return transport.close() }
    link.start { [weak self, lane] event in lane.run { [weak self] in self?.handle(event, of: number) } }
  }

  private func handle(_ event: LinkEvent, of number: UInt64) {
    switch event {
    case .opened(let hello):
      // On the lane, so that no change falls between the list and the news.
      let link = state.withLock { state in
        state.apps[number]?.hello = hello
        return state.apps[number]?.link
      }
      for listing in listings { link?.send(.glassesListing(listing)) }
      link?.send(.glassesListed(GlassesListed()))
    case .message(let message): received(message, from: number)
    case .closed:
      let ended = state.withLock { $0.apps.removeValue(forKey: number) }
      withExtendedLifetime(ended) {}
    case .accessUnit, .audio, .photoProgress, .photo, .videoDropped, .audioDropped, .silent, .heardAgain,
      .clockRealigned:
      break
    }
  }

  private func received(_ message: Message, from number: UInt64) {
    guard let app = state.withLock({ $0.apps[number] }) else { return }
    switch message {
    case .certificateRequest(let request): certify(request, app)
    case .pairGlasses(let request):
      pair(request.uri) { outcome, identifier, text in
        app.link.send(
          .companionAnswer(
            CompanionAnswer(number: request.number, outcome: outcome, identifier: identifier, text: text)))
      }
    case .unpairGlasses(let request):
      let (outcome, text) = unpair(request.identifier)
      app.link.send(
        .companionAnswer(
          CompanionAnswer(number: request.number, outcome: outcome, identifier: request.identifier, text: text)))
    // The endpoint lets nothing else through that an app may send.
    case _: break
    }
  }

  /// Every app of this user, without asking.
  private func certify(_ request: CertificateRequest, _ app: AppLink) {
    guard let hello = app.hello else { return }
    guard let key = try? PublicKey(subjectPublicKeyInfo: request.appKey),
      let certificate = try? host.certify(hello.identifier, key: key)
    else {
      return app.link.close(Goodbye(reason: .refused, text: "the app's identifier or key can't be certified"))
    }
    app.link.send(.certificateIssued(CertificateIssued(certificate: certificate.der)))
  }
}
