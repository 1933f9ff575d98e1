// Underscored, because Swift has no other way for a module to lend its own name to another's declarations. Times and
// sample buffers come through this module as they do on a phone.
//
// The converter is made of a resampler, which the module of media types knows nothing of; of the module that has it
// nothing else is lent.
@_exported import class MWDATCamera.AVAudioConverter
@_exported import typealias MWDATCamera.AVAudioConverterInputBlock
@_exported import enum MWDATCamera.AVAudioConverterInputStatus
@_exported import enum MWDATCamera.AVAudioConverterOutputStatus
@_exported import enum MWDATCamera.AVAudioConverterPrimeMethod
@_exported import enum MWDATCamera.AVAudioQuality
@_exported import PortableMedia
