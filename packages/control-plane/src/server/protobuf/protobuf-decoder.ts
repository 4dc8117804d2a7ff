import type { BodyDecoder } from '../bodies/decode-body.ts';
import type { ExpectedKind } from './decode-protobuf.ts';

/** PROTOBUF is the media type of Kubernetes' protobuf. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** protobufDecoder reads protobuf. What it takes to do so is loaded with the first body: many servers never see one. */
export function protobufDecoder(expected: ExpectedKind): BodyDecoder {
  return async (bytes) => {
    const { decodeProtobuf } = await import('./decode-protobuf.ts');
    return decodeProtobuf(bytes, expected);
  };
}
