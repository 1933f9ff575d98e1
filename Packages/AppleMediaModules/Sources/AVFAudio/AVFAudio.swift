// Underscored, because Swift has no other way for a module to lend its own name to another's declarations. Here so that
// `import AVFAudio` compiles: times and sample buffers come through it as they do on a phone.
@_exported import PortableMedia
