import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { Stats } from "node:fs";

/** The members of the library's file system that a file needs. */
export interface FileSystem {
  readonly ErrnoError: new (errno: number) => Error;
}

interface OpenFile {
  readonly flags: number;
  readonly position: number;
  descriptor?: number;
}

export interface FileNode {
  readonly node_ops: object;
  readonly stream_ops: object;
}

const accessBits = 0o3;
/** Numbers of the library's C library. */
const [readOnlyFileSystem, noSuchFile, invalid] = [69, 44, 28];
const [fromCurrent, fromEnd] = [1, 2];

/**
 * The operations of one file of this machine that the library may read and not change. Its own way
 * to mount is for folders, and would show the neighbours of the file.
 */
export function readOnlyFile({ ErrnoError }: FileSystem, file: string): FileNode {
  const refuse = () => {
    throw new ErrnoError(readOnlyFileSystem);
  };
  return {
    node_ops: {
      getattr: () => toAttributes(statSync(file)),
      setattr: refuse,
      rename: refuse,
      unlink: refuse,
    },
    stream_ops: {
      open: (stream: OpenFile) => {
        if ((stream.flags & accessBits) !== 0) refuse();
        try {
          stream.descriptor = openSync(file, "r");
        } catch {
          throw new ErrnoError(noSuchFile);
        }
      },
      close: ({ descriptor }: OpenFile) => {
        if (descriptor !== undefined) closeSync(descriptor);
      },
      read: (
        { descriptor = -1 }: OpenFile,
        memory: Int8Array,
        offset: number,
        length: number,
        position: number,
      ) => {
        if (length === 0) return 0;
        const target = new Int8Array(memory.buffer, offset, length);
        return readSync(descriptor, target, { position });
      },
      write: refuse,
      llseek: (stream: OpenFile, offset: number, whence: number) => {
        const { descriptor = -1 } = stream;
        const base =
          whence === fromCurrent
            ? stream.position
            : whence === fromEnd
              ? fstatSync(descriptor).size
              : 0;
        if (base + offset < 0) throw new ErrnoError(invalid);
        return base + offset;
      },
    },
  };
}

function toAttributes(facts: Stats) {
  const { dev, ino, mode, nlink, uid, gid, rdev, size, blksize, blocks } = facts;
  const { atime, mtime, ctime } = facts;
  return { dev, ino, mode, nlink, uid, gid, rdev, size, atime, mtime, ctime, blksize, blocks };
}
