/**
 * Reads GDAL's progress bar, `0...10...20` up to `100 - done.`, from pieces of text as they come. A
 * dot is 2.5 percent. A program that works in several passes shows several bars.
 */
export function createProgressReader(
  onProgress: (percent: number) => void,
): (text: string) => void {
  let digits = "";
  let percent = -1;

  function tell(next: number): void {
    if (next === percent || next > 100) return;
    percent = next;
    onProgress(next);
  }

  return (text) => {
    for (const character of text) {
      if (character >= "0" && character <= "9") {
        digits += character;
        // 0 and 100 have no dot behind them that would end the number.
        if (digits === "0" || digits === "100") tell(Number(digits));
        continue;
      }
      const isStep = digits !== "" && digits.length <= 2 && Number(digits) % 10 === 0;
      if (character === "." && isStep) tell(Number(digits));
      if (character === "." && percent >= 0) tell(percent + 2.5);
      if (character === "\n") percent = -1;
      digits = "";
    }
  };
}
