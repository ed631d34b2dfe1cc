/**
 * The system calls that a confined program is refused, as a program for the kernel's filter. GDAL
 * uses none of them. The namespaces keep it from files and hosts; the filter keeps it from starting
 * processes (the kernel does not hold root to a limit of processes), from leaving links in the work
 * folder for the worker to follow, and from parts of the kernel where holes have been found.
 */

/** The number of each refused call on x64 and on arm64, from the kernel's headers. */
const refused: Readonly<Record<string, readonly [number | undefined, number | undefined]>> = {
  socket: [41, 198],
  socketpair: [53, 199],
  fork: [57, undefined],
  vfork: [58, undefined],
  link: [86, undefined],
  linkat: [265, 37],
  symlink: [88, undefined],
  symlinkat: [266, 36],
  mknod: [133, undefined],
  mknodat: [259, 33],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
};

interface Machine {
  readonly column: 0 | 1;
  /** AUDIT_ARCH_… of linux/audit.h. */
  readonly arch: number;
  readonly clone: number;
}

const machines: Readonly<Record<string, Machine>> = {
  x64: { column: 0, arch: 0xc000003e, clone: 56 },
  arm64: { column: 1, arch: 0xc00000b7, clone: 220 },
};
/** Answered as unknown: glibc then calls `clone`, whose flags a filter can see. */
const clone3 = 435;
const cloneThread = 0x00010000;
/** Calls of the x32 variant of x64 have this bit, and numbers of their own. */
const x32 = 0x40000000;

/** An instruction as in struct sock_filter of linux/filter.h; jumps count the instructions to skip. */
type Step = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Step => [0x20, 0, 0, offset];
const answer = (value: number): Step => [0x06, 0, 0, value];
const isEqual = (value: number, ifTrue: number, ifFalse: number): Step => [
  0x15,
  ifTrue,
  ifFalse,
  value,
];
const isAtLeast = (value: number, ifTrue: number, ifFalse: number): Step => [
  0x35,
  ifTrue,
  ifFalse,
  value,
];
const hasBits = (value: number, ifTrue: number, ifFalse: number): Step => [
  0x45,
  ifTrue,
  ifFalse,
  value,
];

const allow = answer(0x7fff0000);
const kill = answer(0x80000000);
const [notPermitted, tryAgain, unknownCall] = [1, 11, 38].map((errno) =>
  answer(0x00050000 | errno),
) as [Step, Step, Step];

/** Offsets in struct seccomp_data. */
const [callNumber, architecture, firstArgument] = [0, 4, 16];

/** Undefined on machines whose numbers are not known here: the namespaces hold there too. */
export function seccompFilter(arch: string): Uint8Array | undefined {
  const machine = machines[arch];
  if (machine === undefined) return undefined;
  const numbers = Object.values(refused).flatMap((pair) => pair[machine.column] ?? []);
  return encode([
    load(architecture),
    isEqual(machine.arch, 1, 0),
    kill,
    load(callNumber),
    ...[isAtLeast(x32, 0, 1), unknownCall],
    ...[isEqual(clone3, 0, 1), unknownCall],
    ...numbers.flatMap((number) => [isEqual(number, 0, 1), notPermitted]),
    // Of `clone`, only threads.
    isEqual(machine.clone, 0, 3),
    load(firstArgument),
    hasBits(cloneThread, 1, 0),
    tryAgain,
    allow,
  ]);
}

function encode(steps: readonly Step[]): Uint8Array {
  const bytes = Buffer.alloc(8 * steps.length);
  for (const [index, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(ifTrue, 8 * index + 2);
    bytes.writeUInt8(ifFalse, 8 * index + 3);
    bytes.writeUInt32LE(value, 8 * index + 4);
  }
  return bytes;
}
