/// True until the sample buffer is invalidated.
public func CMSampleBufferIsValid(_ sbuf: CMSampleBuffer) -> Bool { sbuf.state.withLock { $0.isValid } }

/// Says that the samples are not to be used any more. Readers that have data already keep it.
@discardableResult
public func CMSampleBufferInvalidate(_ sbuf: CMSampleBuffer) -> OSStatus {
  sbuf.state.withLock { state in
    guard state.isValid else { return kCMSampleBufferError_Invalidated }
    state.isValid = false
    return noErr
  }
}

/// True if the data is there.
public func CMSampleBufferDataIsReady(_ sbuf: CMSampleBuffer) -> Bool { sbuf.state.withLock { $0.readiness == .ready } }

/// True if the data won't come; why, through `statusOut`.
public func CMSampleBufferHasDataFailed(_ sbuf: CMSampleBuffer, statusOut: UnsafeMutablePointer<OSStatus>?) -> Bool {
  guard case .failed(let status) = sbuf.state.withLock({ $0.readiness }) else { return false }
  statusOut?.pointee = status
  return true
}

/// Says that the data is there.
///
/// - Returns: ``noErr``, ``kCMSampleBufferError_Invalidated``, or ``kCMSampleBufferError_BufferNotReady`` for coded
///   samples without a data buffer.
@discardableResult
public func CMSampleBufferSetDataReady(_ sbuf: CMSampleBuffer) -> OSStatus {
  sbuf.state.withLock { state in
    guard state.isValid else { return kCMSampleBufferError_Invalidated }
    guard state.dataBuffer != nil || sbuf.image != nil || sbuf.count == 0 else {
      return kCMSampleBufferError_BufferNotReady
    }
    state.readiness = .ready
    return noErr
  }
}

/// Says that the data won't come, and why. Data that is there stays.
@discardableResult
public func CMSampleBufferSetDataFailed(_ sbuf: CMSampleBuffer, status: OSStatus) -> OSStatus {
  sbuf.state.withLock { state in
    guard state.isValid else { return kCMSampleBufferError_Invalidated }
    guard state.readiness != .ready else { return kCMSampleBufferError_InvalidSampleData }
    state.readiness = .failed(status)
    return noErr
  }
}

/// Makes the data ready by the callback given at creation, on this thread, if it isn't there yet.
///
/// - Returns: ``noErr`` with the data there; ``kCMSampleBufferError_BufferNotReady`` without a callback; what the
///   callback returned; or ``kCMSampleBufferError_Invalidated`` or ``kCMSampleBufferError_DataFailed``.
@discardableResult
public func CMSampleBufferMakeDataReady(_ sbuf: CMSampleBuffer) -> OSStatus {
  let (isValid, readiness) = sbuf.state.withLock { ($0.isValid, $0.readiness) }
  guard isValid else { return kCMSampleBufferError_Invalidated }
  switch readiness {
  case .ready: return noErr
  case .failed: return kCMSampleBufferError_DataFailed
  case .notReady: break
  }
  guard let makeReady = sbuf.makeReady else { return kCMSampleBufferError_BufferNotReady }
  // Called without the lock: the callback sets the data buffer.
  let status = makeReady.callback(sbuf, UnsafeMutableRawPointer(bitPattern: makeReady.reference))
  return status == noErr ? CMSampleBufferSetDataReady(sbuf) : status
}
