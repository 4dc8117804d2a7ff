import type { BodyDecoder } from '../bodies/decode-body.ts';
import type { ExpectedKind } from './decode-protobuf.ts';

/** PROTOBUF is the media type of Kubernetes' protobuf encoding. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** protobufDecoder decodes protobuf. Its code is loaded with the first body: many servers never receive one. */
export function protobufDecoder(expected: ExpectedKind): BodyDecoder {
  return async (bytes) => {
    const { decodeProtobuf } = await import('./decode-protobuf.ts');
    return decodeProtobuf(bytes, expected);
  };
}
