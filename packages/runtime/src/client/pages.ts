import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { isExpired } from '../errors/api-error.ts';
import type { Client, List, PagesOptions } from './client.ts';
import { invalid } from './paths.ts';

const PAGE_SIZE = 500;

/** pagesOf lists page by page; each page is requested after the previous one was consumed. */
export async function* pagesOf<T extends KubernetesObject>(
  client: Pick<Client, 'list'>,
  resource: Resource<T>,
  options: PagesOptions = {},
): AsyncGenerator<List<T>, undefined, undefined> {
  const { pageSize = PAGE_SIZE, onExpired = 'throw', ...list } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw invalid(`cannot list ${resource.plural} in pages of ${pageSize}: set pageSize to 1 or more`);
  }
  let token: string | undefined;
  do {
    let page: List<T>;
    try {
      page = await client.list(resource, { ...list, limit: pageSize, continue: token });
    } catch (error) {
      // With the error the server sends a token that continues after the last page, in the current state.
      if (onExpired === 'throw' || !isExpired(error) || error.continueToken === undefined) throw error;
      token = error.continueToken;
      continue;
    }
    token = page.metadata.continue || undefined;
    yield page;
  } while (token !== undefined);
}
