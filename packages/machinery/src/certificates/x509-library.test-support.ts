type X509Library = typeof import('@peculiar/x509');

let loading: Promise<X509Library> | undefined;

/**
 * loadX509 gives a library that reads certificates: an independent judge of those that we write. Its dependency injection reads
 * metadata while its modules are evaluated, so the polyfill has to be there first.
 */
export function loadX509(): Promise<X509Library> {
  loading ??= import('reflect-metadata').then(() => import('@peculiar/x509'));
  return loading;
}
