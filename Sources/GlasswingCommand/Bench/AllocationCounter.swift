import Glibc
import Synchronization

/// Counts the calls of the C allocator while a bench runs.
///
/// Every loaded object calls `malloc` and its like through a table of its own, which the dynamic linker has filled (System
/// V ABI: the relocations of `DT_JMPREL` and `DT_RELA`). `install` writes counting functions into these tables. So nothing
/// is in the way of a program that doesn't count, no library has to be preloaded, and what Swift code allocates can be told
/// from what the codecs' libraries do. The C library's own calls, which don't go through a table, are not counted.
///
/// For good: what was installed stays until the process ends.
enum AllocationCounter {
  /// Allocations since the start, and the bytes asked for.
  struct Counts: Equatable, Sendable {
    var calls = 0
    var bytes = 0

    static func - (a: Counts, b: Counts) -> Counts { Counts(calls: a.calls - b.calls, bytes: a.bytes - b.bytes) }
  }

  /// Who allocates: this program, Swift's runtime and Foundation; or the codecs' and all other libraries.
  enum Owner: CaseIterable { case swift, libraries }

  static func counts(_ owner: Owner) -> Counts { tally(owner).counts }

  /// Begins to count. Nil where the tables can't be found or written: then nothing was changed that matters.
  ///
  /// - Returns: how many entries of the tables were replaced.
  static func install() -> Int? {
    // All that a counting function uses is made before the first one is in place: making it allocates.
    guard Original.areComplete, Owner.allCases.allSatisfy({ counts($0).calls == 0 }),
      !Counting.swift.isEmpty, !Counting.libraries.isEmpty
    else { return nil }
    var replaced = 0
    // In glibc a handle is the object's entry in the list of all that are loaded; the program's own is the first.
    var map = dlopen(nil, RTLD_NOW)?.assumingMemoryBound(to: link_map.self)
    while let object = map?.pointee {
      replaced += LoadedObject(object)?.replace() ?? 0
      map = object.l_next
    }
    return replaced > 0 ? replaced : nil
  }

  fileprivate final class Tally: Sendable {
    private let calls = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)

    var counts: Counts { Counts(calls: calls.load(ordering: .relaxed), bytes: bytes.load(ordering: .relaxed)) }

    func add(_ size: Int) {
      calls.wrappingAdd(1, ordering: .relaxed)
      bytes.wrappingAdd(size, ordering: .relaxed)
    }
  }

  private static let swift = Tally()
  private static let libraries = Tally()

  fileprivate static func tally(_ owner: Owner) -> Tally {
    switch owner {
    case .swift: swift
    case .libraries: libraries
    }
  }
}

/// The allocator's own functions, which the counting ones call: by address, since a call by name would come back.
private enum Original {
  typealias Allocate = @convention(c) (Int) -> UnsafeMutableRawPointer?
  typealias AllocateTwo = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
  typealias Reallocate = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
  typealias AllocateAligned = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>?, Int, Int) -> Int32

  static let malloc = find("malloc", Allocate.self)
  static let calloc = find("calloc", AllocateTwo.self)
  static let realloc = find("realloc", Reallocate.self)
  static let alignedAlloc = find("aligned_alloc", AllocateTwo.self)
  static let memalign = find("memalign", AllocateTwo.self)
  static let posixMemalign = find("posix_memalign", AllocateAligned.self)

  /// Also makes sure that all are looked up before any counting function runs.
  static var areComplete: Bool {
    malloc != nil && calloc != nil && realloc != nil && alignedAlloc != nil && memalign != nil && posixMemalign != nil
  }

  private static func find<Function>(_ name: String, _ type: Function.Type) -> Function? {
    // Of the whole program: the first that the linker finds, which is the one that the tables name.
    guard let program = dlopen(nil, RTLD_NOW), let address = dlsym(program, name) else { return nil }
    return unsafeBitCast(address, to: type)
  }
}

/// One object's tables.
private struct LoadedObject {
  private let base: UInt
  private let owner: AllocationCounter.Owner
  private var symbols: UnsafePointer<Elf64_Sym>?
  private var names: UnsafePointer<CChar>?
  private var tables: [UnsafeBufferPointer<Elf64_Rela>] = []

  init?(_ object: link_map) {
    base = UInt(object.l_addr)
    let name = object.l_name.map { String(cString: $0) } ?? ""
    let isSwift = name.isEmpty || ["libswift", "Foundation", "libdispatch", "libBlocks"].contains { name.contains($0) }
    owner = isSwift ? .swift : .libraries
    // The vDSO calls nobody, and its section can't be read as others can.
    guard !name.contains("vdso"), var entry = object.l_ld else { return nil }
    var (plt, pltSize, rela, relaSize): (UInt, Int, UInt, Int) = (0, 0, 0, 0)
    while entry.pointee.d_tag != DT_NULL {
      let value = UInt(entry.pointee.d_un.d_val)
      switch entry.pointee.d_tag {
      case Elf64_Sxword(DT_SYMTAB): symbols = UnsafePointer(bitPattern: absolute(value))
      case Elf64_Sxword(DT_STRTAB): names = UnsafePointer(bitPattern: absolute(value))
      case Elf64_Sxword(DT_JMPREL): plt = absolute(value)
      case Elf64_Sxword(DT_PLTRELSZ): pltSize = Int(value)
      case Elf64_Sxword(DT_RELA): rela = absolute(value)
      case Elf64_Sxword(DT_RELASZ): relaSize = Int(value)
      default: break
      }
      entry += 1
    }
    for (address, size) in [(plt, pltSize), (rela, relaSize)] {
      guard let start = UnsafePointer<Elf64_Rela>(bitPattern: address) else { continue }
      tables.append(UnsafeBufferPointer(start: start, count: size / MemoryLayout<Elf64_Rela>.stride))
    }
  }

  /// The linker of glibc has made most addresses absolute; where it has not, they are below the object's.
  private func absolute(_ address: UInt) -> UInt { address < base ? address + base : address }

  /// - Returns: how many entries now lead to a counting function.
  func replace() -> Int {
    guard let symbols, let names else { return 0 }
    var replaced = 0
    for relocation in tables.joined() where Self.slotTypes.contains(UInt32(truncatingIfNeeded: relocation.r_info)) {
      let symbol = symbols[Int(relocation.r_info >> 32)]
      let name = String(cString: names + Int(symbol.st_name))
      guard let counting = counting(name), let slot = writableSlot(base + UInt(relocation.r_offset)) else { continue }
      slot.pointee = counting
      replaced += 1
    }
    return replaced
  }

  /// Of entries that hold a function's address: R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
  /// R_AARCH64_JUMP_SLOT.
  #if arch(arm64)
    private static let slotTypes: Set<UInt32> = [1025, 1026]
  #else
    private static let slotTypes: Set<UInt32> = [6, 7]
  #endif

  /// The tables were made read-only once they were filled.
  private func writableSlot(_ address: UInt) -> UnsafeMutablePointer<UnsafeRawPointer>? {
    let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
    let start = UnsafeMutableRawPointer(bitPattern: address / page * page)
    guard mprotect(start, Int(page), PROT_READ | PROT_WRITE) == 0 else { return nil }
    return UnsafeMutablePointer(bitPattern: address)
  }

  private func counting(_ name: String) -> UnsafeRawPointer? {
    switch owner {
    case .swift: Counting.swift[name]
    case .libraries: Counting.libraries[name]
    }
  }
}

/// The functions that count, for each owner: a C function has no state of its own to tell them apart by.
private enum Counting {
  // Unsafe in name alone: constants, of functions that are there as long as the program is.
  nonisolated(unsafe) static let swift: [String: UnsafeRawPointer] = [
    "malloc": address(
      {
        AllocationCounter.tally(.swift).add($0); return Original.malloc?($0)
      } as Original.Allocate),
    "calloc": address(
      {
        AllocationCounter.tally(.swift).add($0 &* $1); return Original.calloc?($0, $1)
      } as Original.AllocateTwo),
    "realloc": address(
      {
        AllocationCounter.tally(.swift).add($1); return Original.realloc?($0, $1)
      } as Original.Reallocate),
    "aligned_alloc": address(
      {
        AllocationCounter.tally(.swift).add($1); return Original.alignedAlloc?($0, $1)
      } as Original.AllocateTwo),
    "memalign": address(
      {
        AllocationCounter.tally(.swift).add($1); return Original.memalign?($0, $1)
      } as Original.AllocateTwo),
    "posix_memalign": address(
      {
        AllocationCounter.tally(.swift).add($2); return Original.posixMemalign?($0, $1, $2) ?? ENOMEM
      }
        as Original.AllocateAligned),
  ]

  nonisolated(unsafe) static let libraries: [String: UnsafeRawPointer] = [
    "malloc": address(
      {
        AllocationCounter.tally(.libraries).add($0); return Original.malloc?($0)
      } as Original.Allocate),
    "calloc": address(
      {
        AllocationCounter.tally(.libraries).add($0 &* $1); return Original.calloc?($0, $1)
      } as Original.AllocateTwo),
    "realloc": address(
      {
        AllocationCounter.tally(.libraries).add($1); return Original.realloc?($0, $1)
      } as Original.Reallocate),
    "aligned_alloc": address(
      {
        AllocationCounter.tally(.libraries).add($1); return Original.alignedAlloc?($0, $1)
      } as Original.AllocateTwo),
    "memalign": address(
      {
        AllocationCounter.tally(.libraries).add($1); return Original.memalign?($0, $1)
      } as Original.AllocateTwo),
    "posix_memalign": address(
      {
        AllocationCounter.tally(.libraries).add($2); return Original.posixMemalign?($0, $1, $2) ?? ENOMEM
      }
        as Original.AllocateAligned),
  ]

  private static func address<Function>(_ function: Function) -> UnsafeRawPointer {
    unsafeBitCast(function, to: UnsafeRawPointer.self)
  }
}
