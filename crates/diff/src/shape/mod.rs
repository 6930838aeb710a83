//! Shapes of JSON values. A shape describes all values of an input together: their keys and types, and how often each
//! occurs.
//!
//! The size of a shape grows with the number of different positions, not with the number of values. The result does not
//! depend on the order of the values.

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
pub(crate) use model::{
    Arrays, Elements, Field, Fields, Group, MAX_DEPTH, MAX_POSITIONS, Objects, Strings, Tag,
};
