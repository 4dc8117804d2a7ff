type X509Library = typeof import('@peculiar/x509');

let loading: Promise<X509Library> | undefined;

/**
 * loadX509 loads a library that parses certificates, as an independent check of those that we encode. Its dependency
 * injection reads metadata while its modules are evaluated, so the polyfill must be loaded first.
 */
export function loadX509(): Promise<X509Library> {
  loading ??= import('reflect-metadata').then(() => import('@peculiar/x509'));
  return loading;
}
