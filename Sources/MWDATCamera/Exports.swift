// Clients of the camera handle sample buffers, pixel buffers and times; on Apple's systems they get these from
// frameworks that come along with an import of this module.
@_exported import PortableMedia
