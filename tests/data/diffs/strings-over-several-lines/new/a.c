/* one
   2
   three */
int x;
