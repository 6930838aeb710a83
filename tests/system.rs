//! Runs of strangers' programs: what survives, what takes how long, what signals do. Apart from the other
//! tests, since times are looked at.

mod hostile;
mod interrupt;
mod namespace;
mod run;
mod support;
