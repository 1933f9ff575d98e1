/// The models of glasses. The raw value is the name under which a model is sold.
public enum DeviceType: String, CaseIterable, Sendable {
  case unknown = "Unknown"
  case rayBanMeta = "Ray-Ban Meta"
  case oakleyMetaHSTN = "Oakley Meta HSTN"
  case oakleyMetaVanguard = "Oakley Meta Vanguard"
  case metaRayBanDisplay = "Meta Ray-Ban Display"
  case rayBanMetaOptics = "Ray-Ban Meta Optics"
  case metaGlasses = "Meta Glasses"

  /// True for glasses that can show something.
  public var supportsDisplay: Bool {
    switch self {
    case .metaRayBanDisplay: true
    case .unknown, .rayBanMeta, .oakleyMetaHSTN, .oakleyMetaVanguard, .rayBanMetaOptics, .metaGlasses: false
    }
  }
}
