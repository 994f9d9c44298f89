//! The byte form in which a plan travels to the helper process and its reports travel back.
//!
//! Lengths and numbers are little-endian `u64`; there is no versioning because both ends are the same executable.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// A value that can travel.
pub(crate) trait Wire: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes the value off the front; `None` if the bytes are not one.
    fn get(bytes: &mut &[u8]) -> Option<Self>;
}

/// The bytes of a value.
pub(crate) fn encode<T: Wire>(value: &T) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    value.put(&mut out);
    out
}

/// The value, if the bytes are exactly one.
pub(crate) fn decode<T: Wire>(mut bytes: &[u8]) -> Option<T> {
    let value = T::get(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(len)?;
    *bytes = tail;
    Some(head)
}

impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes, 8).and_then(|head| head.try_into().ok()).map(Self::from_le_bytes)
    }
}

impl Wire for i32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes, 4).and_then(|head| head.try_into().ok()).map(Self::from_le_bytes)
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes, 4).and_then(|head| head.try_into().ok()).map(Self::from_le_bytes)
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        match take(bytes, 1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as u64).put(out);
    out.extend_from_slice(bytes);
}

fn get_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(u64::get(bytes)?).ok()?;
    take(bytes, len)
}

impl Wire for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        get_bytes(bytes).map(|b| OsStr::from_bytes(b).to_owned())
    }
}

impl Wire for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_os_str().as_bytes(), out);
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        OsString::get(bytes).map(Self::from)
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(OsString::get(bytes)?.into_vec()).ok()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        if bool::get(bytes)? { T::get(bytes).map(Some) } else { Some(None) }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        for item in self {
            item.put(out);
        }
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        let len = u64::get(bytes)?;
        (0..len).map(|_| T::get(bytes)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::get(bytes)?, B::get(bytes)?))
    }
}

/// Implements [`Wire`] for a struct, field by field.
macro_rules! wire_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::sandbox::linux::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::sandbox::linux::wire::Wire::put(&self.$field, out);)*
            }
            fn get(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::sandbox::linux::wire::Wire::get(bytes)?),* })
            }
        }
    };
}

/// Implements [`Wire`] for an enum without data.
macro_rules! wire_enum {
    ($name:ident { $($variant:ident = $number:literal),* $(,)? }) => {
        impl $crate::sandbox::linux::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let number: u32 = match self { $(Self::$variant => $number),* };
                $crate::sandbox::linux::wire::Wire::put(&number, out);
            }
            fn get(bytes: &mut &[u8]) -> Option<Self> {
                match <u32 as $crate::sandbox::linux::wire::Wire>::get(bytes)? {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {wire_enum, wire_struct};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Sample = (Vec<(u64, Option<u32>)>, (bool, Vec<(i32, u64)>));

    proptest! {
        #[test]
        fn values_come_back(value: Sample) {
            prop_assert_eq!(decode::<Sample>(&encode(&value)), Some(value));
        }

        #[test]
        fn paths_come_back(bytes: Vec<u8>) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            prop_assert_eq!(decode::<PathBuf>(&encode(&path)), Some(path));
        }

        #[test]
        fn noise_is_refused_or_exact(bytes: Vec<u8>) {
            if let Some(value) = decode::<Vec<(bool, OsString)>>(&bytes) {
                prop_assert_eq!(encode(&value), bytes);
            }
        }
    }

    #[test]
    fn cut_bytes_are_refused() {
        let bytes = encode(&vec![OsString::from("abc")]);
        assert!(decode::<Vec<OsString>>(&bytes[..bytes.len() - 1]).is_none());
    }
}
