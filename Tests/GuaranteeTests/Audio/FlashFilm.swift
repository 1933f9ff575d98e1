import TestSupport

/// A film whose picture is white all over and whose sound beeps for the first 100 ms of each second: 3 s, 25 pictures a second,
/// AAC at 44.1 kHz.
enum FlashFilm {
  static func path() throws -> String {
    let path = try MediaFactory.newPath("mp4")
    let sound = "aevalsrc='0.25*sin(2*PI*1000*t)*lt(mod(t\\,1)\\,0.1)':s=44100:d=3"
    let picture = "nullsrc=s=160x120:r=25:d=3,format=yuv420p,geq=lum='16+219*lt(mod(T\\,1)\\,0.1)':cb=128:cr=128"
    try CommandLineTool.run(
      "ffmpeg",
      [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound, "-c:v", "libx264",
        "-preset", "ultrafast", "-threads", "1", "-c:a", "aac", "-b:a", "128k", path,
      ])
    return path
  }
}
