import LinkTransport

extension Arguments {
  /// An address with its port, as an option has it.
  func hostPort(_ option: Option) throws(CommandFailure) -> HostPort {
    let text = text(option) ?? ""
    guard let address = HostPort(text) else {
      throw CommandFailure(
        subject: "--\(option.rawValue)", "\"\(text)\" is no address with a port",
        next: "write it like 127.0.0.1:7000 or [::1]:7000")
    }
    return address
  }
}
