/**
 * Whoever reads what a command says may leave (`skillgate train ... | head`): the command goes on without a reader, so that nothing of its
 * work is lost. Any other error of the streams is thrown.
 */
export function outliveReaders(
  streams: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr],
): void {
  for (const stream of streams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
}
