//! The program as people use it: files in, files and sentences out.

mod build;
mod compiled;
mod examples;
mod numpy;
mod paths;
mod pipes;
mod real_files;
mod sandbox;
mod wrong_input;
