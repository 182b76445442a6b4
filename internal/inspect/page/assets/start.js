// Last: all views are known.

buildFrame();
buildSearch();
performance.mark("ready");
