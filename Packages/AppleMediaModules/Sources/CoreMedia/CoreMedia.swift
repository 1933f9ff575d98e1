// Underscored, because Swift has no other way for a module to lend its own name to another's declarations.
@_exported import PortableMedia
