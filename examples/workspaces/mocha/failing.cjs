it("adds", () => {
  throw new Error("no");
});
