import { createHash, timingSafeEqual } from 'node:crypto';
import { ALL_AUTHENTICATED, type UserInfo } from './user-info.ts';

/** StaticToken is a token that stays valid as long as the server runs. */
export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

/** StaticTokens finds users by token. The time that a lookup takes reveals nothing about the tokens. */
export class StaticTokens {
  readonly #entries: readonly { readonly hash: Buffer; readonly user: UserInfo }[];

  constructor(tokens: readonly StaticToken[]) {
    this.#entries = tokens
      // An empty token would match every request.
      .filter(({ token }) => token !== '')
      .map(({ token, user }) => ({ hash: hashOf(token), user: authenticated(user) }));
  }

  /** find returns undefined for an unknown token. */
  find(token: string): UserInfo | undefined {
    const hash = hashOf(token);
    let found: UserInfo | undefined;
    // The loop never ends early: hashes have the same length, and every one is compared.
    for (const entry of this.#entries) if (timingSafeEqual(entry.hash, hash)) found = entry.user;
    return found;
  }
}

/** authenticated returns the user as a member of the group of authenticated users. */
export function authenticated(user: UserInfo): UserInfo {
  return user.groups.includes(ALL_AUTHENTICATED) ? user : { ...user, groups: [...user.groups, ALL_AUTHENTICATED] };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
