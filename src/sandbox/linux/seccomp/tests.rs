//! The compiled filter against the table that it was made from, in a small interpreter of the kernel's machine.

use super::*;
use proptest::prelude::*;

struct Call {
    arch: u32,
    nr: u32,
    args: [u64; 6],
}

fn word(call: &Call, offset: u32) -> u32 {
    match offset {
        0 => call.nr,
        4 => call.arch,
        _ => {
            let arg = call.args[((offset - 16) / 8) as usize];
            if (offset - 16).is_multiple_of(8) { (arg & 0xffff_ffff) as u32 } else { (arg >> 32) as u32 }
        }
    }
}

fn interpret(program: &[sock_filter], call: &Call) -> u32 {
    let mut at = 0;
    let mut value = 0;
    loop {
        let op = program[at];
        at += 1;
        let jump = |yes: bool| if yes { usize::from(op.jt) } else { usize::from(op.jf) };
        match op.code {
            LOAD => value = word(call, op.k),
            AND => value &= op.k,
            JUMP => at += op.k as usize,
            EQUAL => at += jump(value == op.k),
            AT_LEAST => at += jump(value >= op.k),
            ANY_BIT => at += jump(value & op.k != 0),
            RETURN => return op.k,
            other => panic!("unknown instruction {other:#x}"),
        }
    }
}

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for net in [Net::None, Net::Loopback, Net::Host] {
        for flat in [false, true] {
            for own in [false, true] {
                shapes.push(Shape { net, flat, own });
            }
        }
    }
    shapes
}

fn run(shape: Shape, nr: c_long, args: [u64; 6]) -> u32 {
    interpret(&filter(shape), &Call { arch: ARCH, nr: u32::try_from(nr).unwrap(), args })
}

const NONE: Shape = Shape { net: Net::None, flat: false, own: false };
const HOST: Shape = Shape { net: Net::Host, flat: false, own: false };

#[test]
fn every_number_gets_what_the_table_says() {
    for shape in shapes() {
        let program = filter(shape);
        assert!(program.len() < 4096, "{}", program.len());
        let table = table(shape);
        for nr in 0..FIRST_UNKNOWN + 50 {
            let got = interpret(&program, &Call { arch: ARCH, nr, args: [0; 6] });
            let plain = table.iter().find(|(known, _)| *known == nr).map(|(_, act)| *act);
            match plain {
                None if nr >= FIRST_UNKNOWN => assert_eq!(got, ERRNO | libc::ENOSYS.unsigned_abs(), "{nr}"),
                None => assert_eq!(got, ALLOW, "{nr}"),
                Some(Act::Errno(errno)) => assert_eq!(got, ERRNO | errno.unsigned_abs(), "{nr}"),
                Some(_) => {}
            }
        }
    }
}

#[test]
fn no_call_walks_a_long_way() {
    let program = filter(NONE);
    for nr in 0..600 {
        let mut at = 0;
        let mut steps = 0;
        let mut value = 0;
        let call = Call { arch: ARCH, nr, args: [0; 6] };
        loop {
            let op = program[at];
            at += 1;
            steps += 1;
            match op.code {
                LOAD => value = word(&call, op.k),
                AND => value &= op.k,
                JUMP => at += op.k as usize,
                EQUAL => at += usize::from(if value == op.k { op.jt } else { op.jf }),
                AT_LEAST => at += usize::from(if value >= op.k { op.jt } else { op.jf }),
                ANY_BIT => at += usize::from(if value & op.k == 0 { op.jf } else { op.jt }),
                _ => break,
            }
        }
        assert!(steps < 32, "{nr} takes {steps}");
    }
}

#[test]
fn arguments_decide() {
    let eacces = ERRNO | libc::EACCES.unsigned_abs();
    let eperm = ERRNO | libc::EPERM.unsigned_abs();
    let high = 1_u64 << 32;
    for (shape, nr, args, expected) in [
        (NONE, libc::SYS_socket, [2, 1, 0, 0, 0, 0], eacces),
        (NONE, libc::SYS_socket, [high | 2, 1, 0, 0, 0, 0], eacces),
        (HOST, libc::SYS_socket, [2, 1, 0, 0, 0, 0], ALLOW),
        (HOST, libc::SYS_socket, [10, 1, 0, 0, 0, 0], ALLOW),
        (HOST, libc::SYS_socket, [1, 1, 0, 0, 0, 0], eacces),
        (HOST, libc::SYS_socket, [16, 3, 0, 0, 0, 0], ALLOW),
        (HOST, libc::SYS_socket, [16, 3, 9, 0, 0, 0], eacces),
        (HOST, libc::SYS_socket, [17, 3, 0, 0, 0, 0], eacces),
        (NONE, libc::SYS_socketpair, [1, 1, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_socketpair, [1, 0o2_000_001, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_socketpair, [1, 5, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_socketpair, [1, 2, 0, 0, 0, 0], eacces),
        (NONE, libc::SYS_socketpair, [2, 1, 0, 0, 0, 0], eacces),
        (NONE, libc::SYS_clone, [0x0120_0011, 0, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_clone, [0x1000_0000, 0, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, high | 0x5412, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, 0x541c, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, 0x5423, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, 0x4008_6602, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, 0x401c_5820, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_personality, [0, 0, 0, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_personality, [0x0004_0000, 0, 0, 0, 0, 0], eperm),
        (NONE, libc::SYS_fchmodat, [0, 0, 0o4755, 0, 0, 0], eperm),
        (NONE, libc::SYS_fchmodat, [0, 0, 0o755, 0, 0, 0], ALLOW),
        (NONE, libc::SYS_openat, [0, 0, 0o101, 0o4755, 0, 0], eperm),
        (NONE, libc::SYS_openat, [0, 0, 0o101, 0o644, 0, 0], ALLOW),
        (NONE, libc::SYS_openat, [0, 0, 0, 0o4755, 0, 0], ALLOW),
        (Shape { flat: true, ..NONE }, libc::SYS_fchmodat, [0, 0, 0o755, 0, 0, 0], eperm),
    ] {
        assert_eq!(run(shape, nr, args), expected, "{nr} {args:?}");
    }
}

#[test]
fn foreign_interfaces_end_the_process() {
    let program = filter(NONE);
    for (arch, nr) in [(0x4000_0003, 1), (ARCH, 0x4000_0001), (ARCH, u32::MAX), (0, 0)] {
        assert_eq!(interpret(&program, &Call { arch, nr, args: [0; 6] }), KILL, "{arch:#x} {nr:#x}");
    }
}

proptest! {
    #[test]
    fn the_program_ends_for_every_call(arch: u32, nr: u32, args: [u64; 6]) {
        for shape in shapes() {
            interpret(&filter(shape), &Call { arch, nr, args });
        }
    }
}
