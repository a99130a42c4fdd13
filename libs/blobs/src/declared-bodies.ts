import { categoryOf } from '@app/kernel';
import type { Blobs, PutArguments } from './blobs';

/** The same store, except that a body of an aggregate none of whose events names bodies is a fault of the program: nothing would remove it with its aggregate. */
export const declaredBodies = <Store extends Pick<Blobs, 'put' | 'group'>>(
  blobs: Store,
  holdBlobs: (stream: string) => boolean,
): Store => {
  const checked =
    <T>(put: (...given: PutArguments) => Promise<T>) =>
    async (...given: PutArguments): Promise<T> => {
      const [stream] = given;
      if (holdBlobs(stream)) return put(...given);
      throw new Error(
        `${stream} stores a body, but no event of the aggregate ${categoryOf(stream)} names one: mark the field with \`heldBlob\`.`,
      );
    };
  const group = blobs.group.bind(blobs);
  blobs.put = checked(blobs.put.bind(blobs));
  blobs.group = () => {
    const made = group();
    return { put: checked(made.put.bind(made)), durable: () => made.durable() };
  };
  return blobs;
};
