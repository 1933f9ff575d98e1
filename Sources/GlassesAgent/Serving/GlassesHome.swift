import LinkTransport
import Trust

/// Who glasses are, chosen at their first start.
package struct GlassesSelf: StoreContent {
  package static let longest = 4096

  package var identifier: GlassesIdentifier
  package var name: String

  /// A new pair of glasses: random, so that no two are alike.
  package init() {
    let number = UInt32.random(in: .min ... .max)
    identifier = GlassesIdentifier(number: number)
    name = "Glasswing \(identifier.text.suffix(4).uppercased())"
  }
}

/// Why glasses can't begin with a folder.
package enum GlassesHomeError: Error, Hashable, Sendable {
  /// Another agent has the folder.
  case inUse(path: String)
  case file(PrivateFileError)
  case key(KeyError)
  case certificate(CertificateError)
  case store(StoreError)
  case socket(SocketFailure)
  /// A name that can't be shown, or is too long.
  case badName
}

extension GlassesHomeError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .inUse(let path): "other glasses run with \(path); end them, or name another folder"
    case .file(let error): "\(error)"
    case .key(let error): "\(error)"
    case .certificate(let error): "\(error)"
    case .store(let error): "\(error)"
    case .socket(let error): "\(error)"
    case .badName: "a name of glasses has 1 to 128 bytes and no characters of control"
    }
  }
}

/// The folder of a pair of glasses, mode 0700: their key (`key.pem`), who they are (`glasses.json`), whom they trust
/// (`hosts.json`), and the socket by which they are controlled (`control.sock`). One process at a time has it.
package final class GlassesHome: Sendable {
  package let path: String
  package let key: SigningKey
  package let me: GlassesSelf
  package let hosts: PairedHosts
  let identity: TLSIdentity
  let control: UnixListener
  /// For a log: what was damaged and is begun anew.
  package let warnings: [String]
  private let hostsFile: StoreFile<PairedHosts>

  /// Reads what the folder has, or makes it.
  ///
  /// - Parameter name: of the glasses from now on; nil to keep the one they have.
  package init(_ path: String, name: String? = nil) throws(GlassesHomeError) {
    self.path = path
    do throws(PrivateFileError) { try PrivateFile.prepareFolder(path) } catch { throw .file(error) }
    // First: who has the socket has the folder.
    do throws(SocketFailure) {
      control = try UnixListener(on: "\(path)/control.sock")
    } catch {
      if case .alreadyServed = error { throw .inUse(path: path) }
      throw .socket(error)
    }
    do throws(KeyError) { key = try KeyFile.loadOrMake("\(path)/key.pem") } catch { throw .key(error) }
    identity = try Self.identity(of: key)
    let file = StoreFile<GlassesSelf>("\(path)/glasses.json")
    hostsFile = StoreFile("\(path)/hosts.json")
    let found: StoreLoad<GlassesSelf>
    let known: StoreLoad<PairedHosts>
    do throws(StoreError) {
      found = try file.load()
      known = try hostsFile.load()
    } catch {
      throw .store(error)
    }
    var me = found.content
    if let name {
      guard PairedHosts.Host(name: name, key: key.publicKey) != nil else { throw .badName }
      me.name = name
    }
    if found != .loaded(me) {
      do throws(StoreError) { try file.save(me) } catch { throw .store(error) }
    }
    self.me = me
    hosts = known.content
    warnings =
      (found.message.map { ["\(path)/glasses.json: \($0)"] } ?? [])
      + (known.message.map { ["\(path)/hosts.json: \($0)"] } ?? [])
  }

  private static func identity(of key: SigningKey) throws(GlassesHomeError) -> TLSIdentity {
    let certificate: Certificate
    do throws(CertificateError) {
      certificate = try Certificate.selfSigned(key, as: .agent)
    } catch {
      throw .certificate(error)
    }
    guard let identity = TLSIdentity(key: key, certificate: certificate) else { throw .certificate(.malformed) }
    return identity
  }

  /// On the disk when it returns.
  func save(_ hosts: PairedHosts) throws(StoreError) { try hostsFile.save(hosts) }
}
