import MWDATCore

extension GlassesModel {
  var deviceType: DeviceType {
    switch self {
    case .rayBanMeta: .rayBanMeta
    case .oakleyMetaHSTN: .oakleyMetaHSTN
    case .oakleyMetaVanguard: .oakleyMetaVanguard
    case .rayBanMetaOptics: .rayBanMetaOptics
    case .metaGlasses: .metaGlasses
    case .metaRayBanDisplay: .metaRayBanDisplay
    }
  }
}
