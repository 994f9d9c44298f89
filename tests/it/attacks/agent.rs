//! An agent that chooses the tool's name, the arguments and the flags.
