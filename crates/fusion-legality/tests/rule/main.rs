//! The rule against its corpus, its checker against changed certificates, and both against large and random kernels.

mod corpus;
mod corpus_files;
mod limits;
mod mutations;
mod random;
