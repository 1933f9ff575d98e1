/// Why a registration did not begin.
public enum RegistrationError: Int, DatError {
  case alreadyRegistered
  case configurationInvalid
  case metaAINotInstalled
  case networkUnavailable
  case unknown

  public var description: String {
    switch self {
    case .alreadyRegistered:
      "The app is registered already. Unregister it first if you want to register anew."
    case .configurationInvalid:
      "The companion refused the app's configuration. Check the MWDAT dictionary in Info.plist."
    case .metaAINotInstalled:
      "No companion was found. Install and start it, or enable the mock device kit."
    case .networkUnavailable:
      "The companion has no network. Connect and try again."
    case .unknown:
      "The registration failed for a reason the companion did not give. Try again."
    }
  }
}

/// Why an unregistration did not begin.
public enum UnregistrationError: Int, DatError {
  case alreadyUnregistered
  case configurationInvalid
  case metaAINotInstalled
  case unknown

  public var description: String {
    switch self {
    case .alreadyUnregistered:
      "The app is not registered, so there is nothing to undo."
    case .configurationInvalid:
      "The companion refused the app's configuration. Check the MWDAT dictionary in Info.plist."
    case .metaAINotInstalled:
      "No companion was found. Install and start it, or enable the mock device kit."
    case .unknown:
      "The unregistration failed for a reason the companion did not give. Try again."
    }
  }
}

/// Why a URL that came back from the companion could not be completed.
public enum WearablesHandleURLError: Int, DatError {
  case registrationError
  case unregistrationError

  public var description: String {
    switch self {
    case .registrationError:
      "The companion's answer did not complete the registration. Start the registration again."
    case .unregistrationError:
      "The companion's answer did not complete the unregistration. Start the unregistration again."
    }
  }
}

/// Why a page of the companion could not be opened.
public enum NavigationError: Int, DatError {
  case metaAINotInstalled
  case notRegistered

  public var description: String {
    switch self {
    case .metaAINotInstalled: "No companion was found. Install and start it."
    case .notRegistered: "The app is not registered. Call startRegistration() first."
    }
  }
}

/// Why `Wearables.configure()` failed.
public enum WearablesError: Int, DatError {
  case internalError = 0
  case alreadyConfigured = 1
  case configurationError = 2
  case missingInfoDictionary = 3
  case missingBundleIdentifier = 4
  case missingAppName = 5
  case missingAppVersion = 6
  case missingBuildNumber = 7

  public var description: String {
    switch self {
    case .internalError:
      "Something failed inside. Please report it with the log."
    case .alreadyConfigured:
      "Wearables is configured already. Call configure() once; enabling the mock device kit calls it too."
    case .configurationError:
      "The MWDAT dictionary in Info.plist is missing or wrong. The log says which entries."
    case .missingInfoDictionary:
      "Info.plist could not be read as a dictionary. Check the file and its path."
    case .missingBundleIdentifier:
      "Info.plist has no CFBundleIdentifier. Add the app's identifier."
    case .missingAppName:
      "Info.plist has neither CFBundleDisplayName nor CFBundleName. Add the name that people see."
    case .missingAppVersion:
      "Info.plist has no CFBundleShortVersionString. Add the app's version."
    case .missingBuildNumber:
      "Info.plist has no CFBundleVersion. Add the build number."
    }
  }
}

/// Why a registration that began inside the companion could not be continued or cancelled.
@frozen public enum RegistrationRequestError: DatError, Equatable, Hashable {
  case invalidRequest
  case alreadyHandled
  case configurationInvalid
  case networkUnavailable
  case metaAINotInstalled
  case registrationFailed
  case cancellationFailed

  public var description: String {
    switch self {
    case .invalidRequest:
      "The companion does not know this request any more. Begin again in the companion."
    case .alreadyHandled:
      "This request was continued or cancelled before. Each request is answered once."
    case .configurationInvalid:
      "The companion refused the app's configuration. Check the MWDAT dictionary in Info.plist."
    case .networkUnavailable:
      "The companion has no network. Connect and try again."
    case .metaAINotInstalled:
      "No companion was found. Install and start it."
    case .registrationFailed:
      "The registration failed. Begin again in the companion."
    case .cancellationFailed:
      "The request could not be cancelled. It lapses by itself."
    }
  }
}
