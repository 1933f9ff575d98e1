import LinkProtocol
import Units

// A link's session: open, pause, resume, close.
extension AgentSessionMachine {
  mutating func openSession(_ open: SessionOpen, _ index: Int, _ conditions: SessionConditions) -> [SessionAction] {
    let key = links[index].key
    func refuse(_ code: LinkErrorCode, _ text: String) -> [SessionAction] {
      [.send(key, .sessionClosed(SessionClosed(session: open.session, reason: .failed(code), text: text)))]
    }
    if let session = links[index].session {
      // The same number twice would make every later message ambiguous.
      if session.id == open.session { return violation(index, "session \(open.session.value) was opened twice") }
      return refuse(.unsupported, "a link carries one session at a time")
    }
    switch conditions.health {
    case .good, .noStream: break
    case .noSession(let code): return refuse(code, "the glasses' condition")
    }
    links[index].session = Session(id: open.session)
    return [.send(key, .sessionOpened(SessionOpened(session: open.session)))]
  }

  mutating func closeSession(_ close: SessionClose, _ index: Int) -> [SessionAction] {
    // A session that the glasses have just ended: the app's close crossed the news on its way.
    guard links[index].session?.id == close.session else { return [] }
    return endSession(index, reason: .requested, text: "")
  }

  mutating func pause(_ index: Int, _ session: Session, reason: SessionPaused.Reason) -> [SessionAction] {
    let stop = links[index].running?.stop ?? []
    links[index].session?.phase = .paused(reason)
    return stop + [.send(links[index].key, .sessionPaused(SessionPaused(session: session.id, reason: reason)))]
  }

  mutating func resume(_ index: Int, _ session: Session) -> [SessionAction] {
    links[index].session?.phase = .running
    return [.send(links[index].key, .sessionResumed(SessionResumed(session: session.id)))]
      + (links[index].running?.start ?? [])
  }

  mutating func endSession(_ index: Int, reason: SessionClosed.Reason, text: String) -> [SessionAction] {
    guard let session = links[index].session else { return [] }
    return release(index)
      + [.send(links[index].key, .sessionClosed(SessionClosed(session: session.id, reason: reason, text: text)))]
  }
}
