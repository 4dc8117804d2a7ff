import { BowlineError } from '../errors/bowline-error.ts';

/** unusable is the error of an authority that cannot sign what anybody would accept. */
export function unusable(problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_CERTIFICATE_AUTHORITY_INVALID',
    `cannot issue from the certificate authority: ${problem}; give the matching certificate and key of a valid one`,
  );
}
