/**
 * Gives the arrays that a picture is computed in, with any contents. A server that draws many pictures
 * hands out the same memory again and again, because the collector would take as long as the drawing.
 */
export type Memory = <Made>(type: ArrayType<Made>, length: number) => Made;

export interface ArrayType<Made> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): Made;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): Made;
}

/** New arrays. */
export const newMemory: Memory = (type, length) => new type(length);
