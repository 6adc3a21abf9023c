//! Static libraries: objects with a table of their symbols in front, as the target's linker reads them.

use std::io::{self, Cursor};

use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, ObjectReader, write_archive_to_stream,
};
use machine::System;

static READER: ObjectReader = DEFAULT_OBJECT_READER;

/// An archive of named objects. Times and owners are 0, so the same objects give the same bytes.
pub(super) fn write(members: Vec<(String, Vec<u8>)>, system: System) -> io::Result<Vec<u8>> {
    let kind = match system {
        System::Linux => ArchiveKind::Gnu,
        System::Darwin => ArchiveKind::Darwin,
    };
    let members: Vec<NewArchiveMember<'_>> = members
        .into_iter()
        .map(|(name, object)| NewArchiveMember::new(object, &READER, name))
        .collect();
    let mut out = Cursor::new(Vec::new());
    write_archive_to_stream(&mut out, &members, kind, false, None)?;
    Ok(out.into_inner())
}
