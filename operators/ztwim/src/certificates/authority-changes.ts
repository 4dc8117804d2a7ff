import type { ObjectKey } from '@bowline/kubernetes';
import type { CertificateAuthority } from '@bowline/runtime/certificates';
import { SINGLETON } from '../api/names.ts';

/** onAuthorityChange runs an operand when the CA of its certificate has changed. */
export async function* onAuthorityChange(
  signal: AbortSignal,
  { authority }: { readonly authority: CertificateAuthority },
): AsyncGenerator<ObjectKey> {
  for await (const _ of authority.changes(signal)) yield { name: SINGLETON };
}
