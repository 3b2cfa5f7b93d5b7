//! Questions about functions, answered without changing them.
