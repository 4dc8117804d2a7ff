// The entry of `@bowline/runtime/client`: kubeconfigs, connections, the typed client and its errors.
export type {
  AccessQuestion,
  Client,
  DeleteOptions,
  JsonPatchOperation,
  List,
  ListOptions,
  PagesOptions,
  Patch,
  PathQuestion,
  ReadTextOptions,
  RequestCheck,
  RequestOptions,
  ReviewOptions,
  StreamTextOptions,
  Subject,
  TextRequest,
  TextStream,
  TokenRequestOptions,
  UnexpectedWatchEvent,
  WatchEvent,
  WatchOptions,
  WatchStream,
  WritableResource,
  WriteGuard,
  WriteOptions,
} from '../client/client.ts';
export { type ClientOptions, createClient } from '../client/create-client.ts';
export { type PodLogOptions, podLog } from '../client/pod-log.ts';
export { type ServiceAccountTokenOptions, serviceAccountToken } from '../client/service-account-token.ts';
export {
  ApiError,
  type ApiErrorInit,
  type ApiRequest,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isKindNotServed,
  isNamespaceTerminating,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
} from '../errors/api-error.ts';
export { type InClusterOptions, inClusterConfig, isInCluster } from '../kubeconfig/in-cluster.ts';
export { type Kubeconfig, parseKubeconfig } from '../kubeconfig/kubeconfig.ts';
export {
  type ConnectionOptions,
  connectionFrom,
  defaultKubeconfigPaths,
  type LoadKubeconfigOptions,
  loadKubeconfig,
} from '../kubeconfig/load-kubeconfig.ts';
export { connect, type TransportOptions } from '../transport/connect.ts';
export type {
  ClientCertificate,
  ConnectionConfig,
  Credentials,
  Impersonation,
  RejectedCredentials,
  RequestHeaders,
} from '../transport/connection-config.ts';
export { impersonationHeaders } from '../transport/impersonation.ts';
export { type TokenSource, tokenCredentials } from '../transport/token-credentials.ts';
export type { Lane, Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
export { TransportError, type TransportErrorCode } from '../transport/transport-error.ts';
