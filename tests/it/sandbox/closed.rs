//! Machines that cannot give everything: nothing runs, and the reason is said.
