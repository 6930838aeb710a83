//! The shape of JSON values: which keys and types stand where, and how many, merged over all values of a reading.
//!
//! A shape grows with the number of different places, not with that of values, and does not depend on their order.

mod absorb;
mod builder;
mod detail;
mod kinds;
mod model;
mod objects;
pub(crate) mod text;
mod view;

pub use builder::ShapeBuilder;
pub use kinds::{Kind, Kinds};
pub use model::Shape;
pub(crate) use model::{Arrays, DEEPEST, Elements, Field, Fields, Group, Objects, PLACES, Strings, Tag};
