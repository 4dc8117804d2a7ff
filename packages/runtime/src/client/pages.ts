import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { isExpired } from '../errors/api-error.ts';
import type { Client, List, PagesOptions } from './client.ts';
import { invalid } from './paths.ts';

const PAGE_SIZE = 500;

/** pagesOf lists page by page, each requested when the one before it was used. */
export async function* pagesOf<T extends KubernetesObject>(
  client: Pick<Client, 'list'>,
  resource: Resource<T>,
  options: PagesOptions = {},
): AsyncGenerator<List<T>, undefined, undefined> {
  const { pageSize = PAGE_SIZE, onExpired = 'throw', ...list } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw invalid(`cannot list ${resource.plural} in pages of ${pageSize}: a page has at least one object`);
  }
  let token: string | undefined;
  do {
    let page: List<T>;
    try {
      page = await client.list(resource, { ...list, limit: pageSize, continue: token });
    } catch (error) {
      // The server sends, with the error, a token that goes on behind the last page in the state of now.
      if (onExpired === 'throw' || !isExpired(error) || error.continueToken === undefined) throw error;
      token = error.continueToken;
      continue;
    }
    token = page.metadata.continue || undefined;
    yield page;
  } while (token !== undefined);
}
