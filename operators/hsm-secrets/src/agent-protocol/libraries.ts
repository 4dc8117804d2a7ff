// The gRPC libraries, which this file alone imports. It is itself imported dynamically, by `loadContract` and
// `loadGrpc`: only processes that call or serve an agent load them. A dynamic import of the libraries would not do,
// because in the bundled program a chunk made from CommonJS has no named exports.
export * as grpc from '@grpc/grpc-js';
export { fromJSON } from '@grpc/proto-loader';
