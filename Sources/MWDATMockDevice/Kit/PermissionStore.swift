import GlassesAgent
import MWDATCore
import Synchronization

/// What the simulated user allows: for each permission the status that a check finds and the answer that a request
/// gets. The last call decides.
final class PermissionStore: MockPermissions {
  private struct Rule {
    var status: PermissionStatus
    /// Where nobody said otherwise the user agrees.
    var answer = PermissionStatus.granted
  }

  private let rules = Mutex<[Permission: Rule]>([:])

  /// Begins anew: a check finds one status for every permission, the user agrees to every request.
  func reset(allGranted: Bool) {
    let rule = Rule(status: allGranted ? .granted : .denied)
    rules.withLock { rules in
      for permission in Permission.allCases { rules[permission] = rule }
    }
  }

  func set(_ permission: Permission, _ status: PermissionStatus) {
    rules.withLock { $0[permission] = Rule(status: status, answer: status) }
  }

  func setRequestResult(_ permission: Permission, result: PermissionStatus) {
    rules.withLock { $0[permission, default: Rule(status: .denied)].answer = result }
  }

  func status(of permission: Permission) -> PermissionStatus {
    rules.withLock { $0[permission]?.status ?? .denied }
  }

  /// The user's answer; consent stays.
  func request(_ permission: Permission) -> PermissionStatus {
    rules.withLock { rules in
      guard let rule = rules[permission] else { return .denied }
      if rule.answer == .granted { rules[permission]?.status = .granted }
      return rule.answer
    }
  }
}

extension PermissionStore: AgentPermissions {
  func allowsCamera(app: String) -> Bool { status(of: .camera) == .granted }
  func allowsMicrophone(app: String) -> Bool { status(of: .microphone) == .granted }
}
