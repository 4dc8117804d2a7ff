import type { UserInfo } from './user-info.ts';

/** TokenOutcome is what became of a token: somebody, and the audiences that it is good for, or not. */
export type TokenOutcome =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | {
      /** Why it is no good, in the API server's words; undefined when it is none of those that this one knows. */
      readonly problem: string | undefined;
    };
