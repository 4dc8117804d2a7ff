type X509Library = typeof import('@peculiar/x509');

let loading: Promise<X509Library> | undefined;

/**
 * loadX509 gives the X.509 library. It is loaded by the first certificate and not before, because importing it costs more
 * than the rest of this package together, and most processes never issue one. Its dependency injection reads metadata
 * while its modules are evaluated, so the polyfill has to be there first.
 */
export function loadX509(): Promise<X509Library> {
  loading ??= import('reflect-metadata').then(() => import('@peculiar/x509'));
  return loading;
}
