/// The models that can be simulated. The raw value is the name under which the model is sold.
public enum GlassesModel: String, CaseIterable, Sendable {
  case rayBanMeta = "Ray-Ban Meta"
  case oakleyMetaHSTN = "Oakley Meta HSTN"
  case oakleyMetaVanguard = "Oakley Meta Vanguard"
  case rayBanMetaOptics = "Ray-Ban Meta Optics"
  case metaGlasses = "Meta Glasses"
  case metaRayBanDisplay = "Meta Ray-Ban Display"
}

/// Which camera of the host stands in for that of the glasses.
public enum CameraFacing: Hashable, Sendable {
  case front
  case back
}
